/*
 * bits/heddle_locks.h - kinds of locks of the standard library, for <mutex> and <shared_mutex>
 * of this folder.
 */
#ifndef HEDDLE_LOCKS
#define HEDDLE_LOCKS
#pragma GCC system_header
#include <bits/c++config.h>
/* clang-format takes the macro behind the name for the namespace */
// clang-format off
namespace std _GLIBCXX_VISIBILITY(default)
{
	_GLIBCXX_BEGIN_NAMESPACE_VERSION
	namespace __heddle
	{
	/* Kinds of locks: pthread_mutex_t, pthread_rwlock_t, the latter to be shared; each is
	 * the first member of its class. */
	enum { __none = -1, __mutex, __rwlock, __shared };
	template <typename _M> struct __lockable {
		enum { __kind = __none };
		static void *__of(_M &__m)
		{
			return const_cast<void *>(
			        static_cast<const volatile void *>(__builtin_addressof(__m)));
		}
		static void __owns(_M &)
		{
		}
	};
	template <int _Kind, typename _M> struct __plain : __lockable<_M> {
		enum { __kind = _Kind };
	};
	/* With what it owns a lock by. */
	template <int _Kind, typename _M, typename _Owner, typename _Adopt> struct __owner {
		enum { __kind = _Kind };
		static void *__of(_Owner &__l)
		{
			return __l.owns_lock() || !__l.mutex()
			               ? nullptr
			               : __lockable<_M>::__of(*__l.mutex());
		}
		static void __owns(_Owner &__l)
		{
			__l = _Owner(*__l.mutex(), _Adopt());
		}
	};
	template <typename _M> struct __of_kind : __lockable<_M> {
	};
	} // namespace __heddle
	_GLIBCXX_END_NAMESPACE_VERSION
} // namespace )
#endif
