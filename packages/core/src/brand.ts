declare const brand: unique symbol

/** Type `T` that only its parser creates: a plain `T` is not assignable. Exists at compile time only. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
