/*
 * locks.hh - included by `heddle c++` before the program's own code. std::lock (std::scoped_lock)
 * of several locks waits for one, tries the others, and where one fails releases all and begins
 * again. libstdc++ begins with the lock that it failed to take, so that no round of its loop ends
 * where it began. For locks of the standard library (before C++20: all of one type) this function
 * takes its place, as it is more constrained, or more specialised: in an exploration each round
 * begins with the first lock (docs/waiting-loops.md), which the runtime does; otherwise it calls
 * libstdc++'s.
 */
#if defined __cplusplus && __cplusplus >= 201103L && defined __has_include
#if __has_include(<bits/c++config.h>)
#pragma GCC system_header
#include <bits/c++config.h>
/* Takes all locks, in an exploration; false: it has not. */
extern "C" int heddle_record_take_all(void *const *locks, const int *kinds, unsigned count)
	__attribute__((weak));
namespace std _GLIBCXX_VISIBILITY(default)
{
_GLIBCXX_BEGIN_NAMESPACE_VERSION
class mutex;
class recursive_mutex;
class timed_mutex;
class recursive_timed_mutex;
class shared_mutex;
class shared_timed_mutex;
struct adopt_lock_t;
template <typename> class unique_lock;
template <typename> class shared_lock;
template <typename _L1, typename _L2, typename... _L3> void lock(_L1 &, _L2 &, _L3 &...);

namespace __heddle
{
/* Kinds of locks: pthread_mutex_t, pthread_rwlock_t, the latter to be shared; each is the first
 * member of its class. */
enum { __none = -1, __mutex, __rwlock, __shared };
template <typename _M> struct __lockable {
	enum { __kind = __none };
	static void *__of(_M &__m)
	{
		return const_cast<void *>(static_cast<const volatile void *>(__builtin_addressof(__m)));
	}
	static void __owns(_M &)
	{
	}
};
template <int _Kind, typename _M> struct __plain : __lockable<_M> {
	enum { __kind = _Kind };
};
/* With what it owns a lock by. */
template <int _Kind, typename _M, typename _Owner, typename _Adopt = adopt_lock_t> struct __owner {
	enum { __kind = _Kind };
	static void *__of(_Owner &__l)
	{
		return __l.owns_lock() || !__l.mutex() ? nullptr
						       : __lockable<_M>::__of(*__l.mutex());
	}
	static void __owns(_Owner &__l)
	{
		__l = _Owner(*__l.mutex(), _Adopt());
	}
};
template <typename _M> struct __of_kind : __lockable<_M> {
};
template <> struct __of_kind<mutex> : __plain<__mutex, mutex> {
};
template <> struct __of_kind<recursive_mutex> : __plain<__mutex, recursive_mutex> {
};
template <> struct __of_kind<timed_mutex> : __plain<__mutex, timed_mutex> {
};
template <> struct __of_kind<recursive_timed_mutex> : __plain<__mutex, recursive_timed_mutex> {
};
template <> struct __of_kind<shared_mutex> : __plain<__rwlock, shared_mutex> {
};
template <> struct __of_kind<shared_timed_mutex> : __plain<__rwlock, shared_timed_mutex> {
};
template <typename _M>
struct __of_kind<unique_lock<_M>> : __owner<__of_kind<_M>::__kind, _M, unique_lock<_M>> {
};
template <> struct __of_kind<shared_lock<shared_mutex>>
	: __owner<__shared, shared_mutex, shared_lock<shared_mutex>> {
};
template <> struct __of_kind<shared_lock<shared_timed_mutex>>
	: __owner<__shared, shared_timed_mutex, shared_lock<shared_timed_mutex>> {
};

template <typename... _L> bool __take(_L &...__l)
{
	void *const __locks[] = { __of_kind<_L>::__of(__l)... };
	const int __kinds[] = { int(__of_kind<_L>::__kind)... };
	bool __right = heddle_record_take_all;
	for (void *__lock : __locks) /* one that is not, is an error of the caller */
		__right = __right && __lock;
	if (!__right || !heddle_record_take_all(__locks, __kinds, sizeof...(_L)))
		return false;
	const int __all[] = { (__of_kind<_L>::__owns(__l), 0)... };
	return !*__all;
}

#if defined __cpp_concepts && __cpp_concepts >= 201907L
/* A lock of a type of which std::lock is libstdc++'s. */
template <typename _L> struct __other {
	_L &__l;
	void lock()
	{
		__l.lock();
	}
	bool try_lock()
	{
		return __l.try_lock();
	}
	void unlock()
	{
		__l.unlock();
	}
};
template <typename... _L> void __lock_others(_L... __l)
{
	std::lock(__l...);
}
#else
/* Has a `type` if the first is such a lock, and all others are of its type. */
template <bool _Yes> struct __is {
};
template <> struct __is<true> {
	typedef void type;
};
template <typename _M, typename... _R>
struct __alike : __is<(__of_kind<_M>::__kind != __none)> {
};
template <typename _M, typename... _R> struct __alike<_M, _M, _R...> : __alike<_M, _R...> {
};
template <typename _M, typename _O, typename... _R> struct __alike<_M, _O, _R...> {
};
#endif
}

#if defined __cpp_concepts && __cpp_concepts >= 201907L
template <typename _L1, typename _L2, typename... _L3>
requires(__heddle::__of_kind<_L1>::__kind != __heddle::__none &&
	 __heddle::__of_kind<_L2>::__kind != __heddle::__none &&
	 ((__heddle::__of_kind<_L3>::__kind != __heddle::__none) && ...))
void lock(_L1 &__a, _L2 &__b, _L3 &...__r)
{
	if (!__heddle::__take(__a, __b, __r...))
		__heddle::__lock_others(__heddle::__other<_L1>{ __a }, __heddle::__other<_L2>{ __b },
					__heddle::__other<_L3>{ __r }...);
}
#else
template <typename _M, typename... _R>
typename __heddle::__alike<_M, _R...>::type lock(_M &__a, _M &__b, _R &...__r)
{
	if (!__heddle::__take(__a, __b, __r...))
		std::lock<_M, _M, _R...>(__a, __b, __r...);
}
#endif
_GLIBCXX_END_NAMESPACE_VERSION
}
#endif
#endif
