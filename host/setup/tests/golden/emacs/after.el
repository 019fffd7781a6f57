;;; init.el --- mine -*- lexical-binding: t; -*-

(use-package agent-shell
  :config
  (setq agent-shell-anthropic-claude-command (list "claude-agent-acp")))

(global-set-key (kbd "C-c (") (lambda () (interactive) (insert ?\()))
;; acp-chain: begin (`acp-chain setup emacs` wrote this, and `acp-chain setup emacs --undo` removes it)
(with-eval-after-load 'acp
  (define-advice acp-make-client (:filter-args (client) acp-chain)
    (let ((launch (list "/usr/local/bin/acp-chain" "run" "--with" "redact" "--"))
          ;; The agents that get a chain, by their programs; without any, all of them.
          (programs (list))
          (command (plist-get client :command))
          (client (copy-sequence client)))
      (when (and (stringp command)
                 (not (equal (file-name-nondirectory command)
                             (file-name-nondirectory (car launch))))
                 (or (not programs)
                     (member (file-name-nondirectory command) programs)))
        (let ((arguments (append (cdr launch)
                                 (list command)
                                 (plist-get client :command-params))))
          (setq client (plist-put client :command (car launch)))
          (setq client (plist-put client :command-params arguments))))
      client)))
;; acp-chain: end
