(with-eval-after-load 'acp
  (define-advice acp-make-client (:filter-args (client) acp-chain)
    (let* ((launch (list@LAUNCH@))
           ;; The agents that get a chain, by their programs; without any, all of them.
           (programs (list@PROGRAMS@))
           (command (plist-get client :command))
           (buffer (plist-get client :context-buffer))
           (folder (if (buffer-live-p buffer)
                       (buffer-local-value 'default-directory buffer)
                     default-directory))
           (elsewhere
            (cond
             ((or (and folder (file-remote-p folder))
                  (and default-directory (file-remote-p default-directory)))
              "its folder is on another machine")
             ((or (bound-and-true-p agent-shell-command-prefix)
                  (bound-and-true-p agent-shell-container-command-runner))
              "`agent-shell-command-prefix' launches it"))))
      (cond
       ((or (not (stringp command))
            (equal (file-name-nondirectory command)
                   (file-name-nondirectory (car launch))))
        client)
       (elsewhere
        (message "acp-chain: `%s' is launched without a chain: %s" command elsewhere)
        client)
       ((or (not programs)
            (member (file-name-nondirectory command) programs))
        (let* ((client (copy-sequence client))
               ;; Emacs looks for programs in its own `exec-path'.
               (agent (or (executable-find command) command))
               (arguments (append (cdr launch)
                                  (list agent)
                                  (plist-get client :command-params))))
          (setq client (plist-put client :command (car launch)))
          (plist-put client :command-params arguments)))
       (t client)))))
