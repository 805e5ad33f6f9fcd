declare const brand: unique symbol

/** A primitive that was checked once, at the edge, and needs no second check. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }
