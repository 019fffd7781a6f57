/* What the system does that promises in `docs/systems.md` rest on, called directly: a line each, `as Windows` or what
 * is different. Under Wine, the latter says which call it lacks, and so which test shows less there. */

#include <stdio.h>
#include <windows.h>

static char folder[MAX_PATH];
static HANDLE stopped;

static void tell(const char *name, BOOL is_same, DWORD error) {
    if (is_same)
        printf("%s: as Windows\n", name);
    else
        printf("%s: not as Windows (error %lu)\n", name, (unsigned long)error);
    fflush(stdout);
}

static void path_of(char *path, const char *name) {
    snprintf(path, MAX_PATH, "%s\\%s", folder, name);
}

static HANDLE make(const char *path, DWORD access, DWORD share) {
    return CreateFileA(path, access, share, NULL, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
}

static const DWORD SHARED = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/* The random numbers of Rust's standard library. */
static void random_numbers(void) {
    char path[MAX_PATH] = "";
    HMODULE module = LoadLibraryA("bcryptprimitives.dll");
    BOOL is_there = module && GetProcAddress(module, "ProcessPrng");
    DWORD error = GetLastError();
    /* The one beside this program is that of the tests. */
    if (module)
        GetModuleFileNameA(module, path, sizeof path);
    tell("ProcessPrng of bcryptprimitives.dll", is_there && strstr(path, "system32") != NULL, error);
}

/* How wasmtime maps compiled code. */
static void mapped_code(void) {
    char path[MAX_PATH], page[4096] = {0};
    DWORD written, old, error = 0;
    BOOL is_same = FALSE;
    path_of(path, "code");
    HANDLE file = make(path, GENERIC_READ | GENERIC_WRITE, SHARED);
    WriteFile(file, page, sizeof page, &written, NULL);
    CloseHandle(file);
    file = make(path, FILE_GENERIC_READ | FILE_GENERIC_EXECUTE, FILE_SHARE_READ);
    HANDLE mapping = CreateFileMappingA(file, NULL, PAGE_EXECUTE_WRITECOPY, 0, 0, NULL);
    void *view = MapViewOfFile(mapping, FILE_MAP_READ | FILE_MAP_EXECUTE | FILE_MAP_COPY, 0, 0, 0);
    if (view)
        is_same = VirtualProtect(view, sizeof page, PAGE_WRITECOPY, &old);
    error = GetLastError();
    tell("VirtualProtect of a view that is copied when written to", is_same, error);
    /* What the cache relies on: code that is mapped can not be removed, hence is not mapped. */
    tell("DeleteFile of a mapped file fails", view && !DeleteFileA(path), 0);
    if (view)
        UnmapViewOfFile(view);
    CloseHandle(mapping);
    CloseHandle(file);
}

/* A job ends with its last handle. */
static void job(void) {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    STARTUPINFOA startup = {.cb = sizeof startup};
    PROCESS_INFORMATION process = {0};
    char line[] = "cmd.exe /c pause";
    HANDLE read, write;
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    HANDLE job = CreateJobObjectA(NULL, NULL);
    BOOL is_set = SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    DWORD error = GetLastError();
    /* The input of the process stays open, so that it waits. */
    CreatePipe(&read, &write, &inherited, 0);
    startup.dwFlags = STARTF_USESTDHANDLES;
    startup.hStdInput = read;
    startup.hStdOutput = startup.hStdError = INVALID_HANDLE_VALUE;
    BOOL is_started = CreateProcessA(NULL, line, NULL, NULL, TRUE, CREATE_SUSPENDED | CREATE_NO_WINDOW, NULL, NULL,
                                     &startup, &process);
    BOOL is_in = is_started && AssignProcessToJobObject(job, process.hProcess);
    if (!is_in)
        error = GetLastError();
    ResumeThread(process.hThread);
    CloseHandle(job);
    BOOL is_ended = is_in && WaitForSingleObject(process.hProcess, 20000) == WAIT_OBJECT_0;
    tell("the last handle of a job with KILL_ON_JOB_CLOSE ends its processes", is_set && is_ended, error);
    if (is_started && !is_ended)
        TerminateProcess(process.hProcess, 1);
}

/* Two processes append to one file: an offset of -1 is its end. */
static void append(void) {
    char path[MAX_PATH];
    DWORD written;
    path_of(path, "appended");
    HANDLE one = make(path, GENERIC_READ | GENERIC_WRITE, SHARED);
    HANDLE other = make(path, GENERIC_READ | GENERIC_WRITE, SHARED);
    OVERLAPPED end = {.Offset = 0xffffffff, .OffsetHigh = 0xffffffff};
    BOOL is_written = WriteFile(one, "one", 3, &written, &end);
    end = (OVERLAPPED){.Offset = 0xffffffff, .OffsetHigh = 0xffffffff};
    is_written = is_written && WriteFile(other, "other", 5, &written, &end);
    DWORD error = GetLastError();
    tell("WriteFile at the offset -1 appends", is_written && GetFileSize(one, NULL) == 8, error);
    CloseHandle(one);
    CloseHandle(other);
}

/* A file is replaced while another process reads it. */
static void replace(void) {
    char path[MAX_PATH], beside[MAX_PATH];
    path_of(path, "replaced");
    path_of(beside, "beside");
    HANDLE reader = make(path, GENERIC_READ | GENERIC_WRITE, SHARED);
    CloseHandle(make(beside, GENERIC_WRITE, SHARED));
    BOOL is_moved = MoveFileExA(beside, path, MOVEFILE_REPLACE_EXISTING);
    tell("MoveFileEx over a file that is open fails", !is_moved, 0);
    CloseHandle(reader);
}

/* A lock on a handle that may only append. */
static void lock(void) {
    char path[MAX_PATH];
    OVERLAPPED begin = {0};
    path_of(path, "locked");
    HANDLE file = make(path, FILE_APPEND_DATA | SYNCHRONIZE, SHARED);
    BOOL is_locked = LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK, 0, MAXDWORD, MAXDWORD, &begin);
    tell("LockFileEx of a handle that may only append fails", !is_locked, 0);
    CloseHandle(file);
}

/* A pipe of a name that is taken, and for this machine alone. */
static void pipe_of_name(void) {
    const char *name = "\\\\.\\pipe\\acp-chain-probe";
    DWORD mode = PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE;
    HANDLE first = CreateNamedPipeA(name, mode, PIPE_REJECT_REMOTE_CLIENTS, 2, 512, 512, 0, NULL);
    DWORD error = GetLastError();
    tell("CreateNamedPipe with PIPE_REJECT_REMOTE_CLIENTS", first != INVALID_HANDLE_VALUE, error);
    HANDLE second = CreateNamedPipeA(name, mode, PIPE_REJECT_REMOTE_CLIENTS, 2, 512, 512, 0, NULL);
    tell("CreateNamedPipe with FIRST_PIPE_INSTANCE of a name that is taken fails",
         second == INVALID_HANDLE_VALUE, 0);
    CloseHandle(first);
}

/* A folder that is open, but not to be removed, stays where it is. */
static void open_folder(void) {
    char path[MAX_PATH], elsewhere[MAX_PATH];
    path_of(path, "open");
    path_of(elsewhere, "elsewhere");
    CreateDirectoryA(path, NULL);
    HANDLE open = CreateFileA(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING,
                              FILE_FLAG_BACKUP_SEMANTICS, NULL);
    tell("MoveFile of a folder that is open without FILE_SHARE_DELETE fails",
         open != INVALID_HANDLE_VALUE && !MoveFileA(path, elsewhere), 0);
    CloseHandle(open);
}

static BOOL WINAPI on_event(DWORD event) {
    if (event != CTRL_BREAK_EVENT)
        return FALSE;
    SetEvent(stopped);
    return TRUE;
}

/* Ctrl+Break reaches the programs of a console. */
static void console(void) {
    stopped = CreateEventA(NULL, TRUE, FALSE, NULL);
    FreeConsole();
    BOOL is_there = AllocConsole();
    DWORD error = GetLastError();
    SetConsoleCtrlHandler(on_event, TRUE);
    BOOL is_sent = is_there && GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, 0);
    if (is_there && !is_sent)
        error = GetLastError();
    BOOL is_received = is_sent && WaitForSingleObject(stopped, 20000) == WAIT_OBJECT_0;
    tell("GenerateConsoleCtrlEvent reaches a handler", is_received, error);
}

int main(void) {
    char temporary[MAX_PATH];
    GetTempPathA(sizeof temporary, temporary);
    snprintf(folder, sizeof folder, "%sacp-chain-probes-%lu", temporary, (unsigned long)GetCurrentProcessId());
    CreateDirectoryA(folder, NULL);
    random_numbers();
    mapped_code();
    job();
    append();
    replace();
    lock();
    pipe_of_name();
    open_folder();
    /* Last, since it gives up the console. */
    console();
    return 0;
}
