/*
 * bits/atomic_wait.h - before libstdc++'s own in the search path of `heddle c++`. libstdc++
 * looks sixteen times before it sleeps (std::atomic::wait, std::latch, std::barrier,
 * std::counting_semaphore); this takes the place of that function, by a constraint that makes
 * it the better match.
 *
 * A look that is one atomic access and fails would fail again at once, as often as one likes:
 * in an exploration it is the last one, as if the others had followed before anybody else's
 * step. One of several fails since another thread came between, and counts as one of sixteen.
 */
#pragma GCC system_header
#if __cplusplus >= 202002L && !defined HEDDLE_LOOKS
#define HEDDLE_LOOKS
#include <bits/c++config.h>
extern "C" unsigned heddle_record_looks(void) __attribute__((weak));
/* clang-format takes the macro behind the name for the namespace */
// clang-format off
namespace std _GLIBCXX_VISIBILITY(default)
{
	_GLIBCXX_BEGIN_NAMESPACE_VERSION
	namespace __detail
	{
	struct __default_spin_policy;
	template <typename _Pred, typename _Spin = __default_spin_policy>
	requires true bool __atomic_spin(_Pred &__pred, _Spin __spin = _Spin{}) noexcept
	{
		for (int __i = 0; __i < 16; ++__i) {
			unsigned __before = heddle_record_looks ? heddle_record_looks() : 0;
			if (__pred())
				return true;
			if (heddle_record_looks && heddle_record_looks() - __before == 1)
				break;
		}
		while (__spin())
			if (__pred())
				return true;
		return false;
	}
	} // namespace __detail
	_GLIBCXX_END_NAMESPACE_VERSION
} // namespace )
#endif
#include_next <bits/atomic_wait.h>
