/*
 * entry.h - entries that keep the registers of their caller, for the state of a thread
 * (memory/state.c).
 *
 * ENTRY(NAME) exports NAME, an operation that the program calls: it leaves the caller's
 * registers in memory_registers when they are wanted, and goes on in the function that is
 * defined BEHIND it. Only rax is changed, which has no argument.
 */
#ifndef HEDDLE_RUNTIME_ENTRY_H
#define HEDDLE_RUNTIME_ENTRY_H

#define ENTRY(name) \
	__asm__(".pushsection .text\n" \
	        ".globl " #name "\n" \
	        ".type " #name ", @function\n" #name ":\n" \
	        ".cfi_startproc\n" \
	        "cmpb $0, memory_states(%rip)\n" \
	        "je 1f\n" \
	        "movq memory_registers@gottpoff(%rip), %rax\n" \
	        "movq %rbx, %fs:(%rax)\n" \
	        "movq %rbp, %fs:8(%rax)\n" \
	        "movq %r12, %fs:16(%rax)\n" \
	        "movq %r13, %fs:24(%rax)\n" \
	        "movq %r14, %fs:32(%rax)\n" \
	        "movq %r15, %fs:40(%rax)\n" \
	        "movq %rsp, %fs:48(%rax)\n" \
	        "1: jmp heddle_" #name "\n" \
	        ".cfi_endproc\n" \
	        ".size " #name ", . - " #name "\n" \
	        ".popsection\n");
#define BEHIND(name) __asm__("heddle_" #name)

#endif
