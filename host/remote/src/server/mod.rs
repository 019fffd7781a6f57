//! The server: connections of clients, each as a transport.
