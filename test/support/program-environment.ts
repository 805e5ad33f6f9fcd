/** What a program that a test starts gets of the tests' own environment: what one compiles, the next need not. */
export const programEnvironment = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
}
