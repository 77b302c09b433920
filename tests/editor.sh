#!/bin/bash
# tests/editor.sh: docs/gdb.md's configuration of Emacs, with Debian's Emacs and dap-mode: a race's witness
# walked forward and backward by `heddle replay --dap`.
set -u
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "editor: $*" >&2; exit 1; }
cd "$work" || exit 1
export PATH=$root:$PATH HOME=$work
sed -n "/^    (require 'dap-mode)/,/^[^ ]/p" "$root/docs/gdb.md" | sed -n 's/^    //p' >init.el
[ -s init.el ] || fail "docs/gdb.md has no configuration of Emacs"
cp "$root/samples/bank/bank.c" .
heddle cc -g bank.c -o bank -pthread && heddle record -q --seed 1 -o bank.hdl -- ./bank >/dev/null
heddle witness bank.hdl 7 22 -o bank.wit >/dev/null
[ -s bank.wit ] || fail "the sample has no witness"

cat >walk.el <<'L'
(setq native-comp-deferred-compilation nil)
(load (expand-file-name "init.el"))
(defvar stops nil "Lines where the run has stood since the last look, the newest first.")
(add-hook 'dap-stack-frame-changed-hook
          (lambda (session)
            (let ((frame (dap--debug-session-active-frame session)))
              (when frame (push (gethash "line" frame) stops)))))
(defun await (found)
  (let ((end (+ (float-time) 120)))
    (while (and (not (funcall found)) (< (float-time) end)) (accept-process-output nil 0.1))))
(defun say-stop (name)
  (await (lambda () stops))
  (accept-process-output nil 0.5)
  (princ (format "%s: %s\n" name (car stops)))
  (setq stops nil))
(defun say-value (name)
  (let ((session (dap--cur-session)) (value nil))
    (dap--send-message
     (dap--make-request "evaluate" (list :expression name :context "watch"
                                         :frameId (gethash "id" (dap--debug-session-active-frame session))))
     (dap--resp-handler (lambda (answer) (setq value (gethash "result" (gethash "body" answer)))))
     session)
    (await (lambda () value))
    (princ (format "%s: %s\n" name value))))
(find-file "bank.c")
(goto-char (point-min))
(forward-line 23)
(dap-breakpoint-add)
(dap-debug (cdr (assoc "the race, in both directions" dap-debug-template-configurations)))
(say-stop "the pair")
(dap-continue (dap--cur-session) (dap--debug-session-thread-id (dap--cur-session)))
(say-stop "the breakpoint")
(say-value "acct.balance")
(heddle-step-back)
(say-stop "a step back")
(say-value "acct.balance")
(heddle-reverse-continue)
(say-stop "the beginning")
(dap-next (dap--cur-session))
(say-stop "a step")
(dap-disconnect (dap--cur-session))
L
timeout 300 emacs --batch -l walk.el >said 2>errors
cat >wanted <<'T'
the pair: 23
the breakpoint: 24
acct.balance: 150
a step back: 23
acct.balance: 100
the beginning: 49
a step: 51
T
grep -E '^(the|a|acct.balance)[a-z ]*: ' said | diff wanted - || { cat errors >&2; fail "Emacs did not go so"; }
echo "editor: Emacs went through the witness forward and backward"
