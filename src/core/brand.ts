declare const brand: unique symbol

/** Validated once, at the boundary. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }
