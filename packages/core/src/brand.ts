declare const brand: unique symbol

/** A `T` that only its parser creates: a plain `T` is not assignable to it. It exists at compile time only. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
