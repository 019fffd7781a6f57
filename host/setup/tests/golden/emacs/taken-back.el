; edited
;;; init.el --- mine -*- lexical-binding: t; -*-

(use-package agent-shell
  :config
  (setq agent-shell-anthropic-claude-command (list "claude-agent-acp")))

(global-set-key (kbd "C-c (") (lambda () (interactive) (insert ?\()))
