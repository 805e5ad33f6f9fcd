declare const brand: unique symbol

/** A primitive that was validated once, at the boundary, and needs no second check. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }
