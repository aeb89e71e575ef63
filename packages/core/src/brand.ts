declare const brand: unique symbol

/** A `T` that only its parser or constructor makes: a plain `T` is not assignable to it. Costs nothing at run time. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
