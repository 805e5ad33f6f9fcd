const insufficientPrivilege = '42501'

/** Whether Postgres refused it for who asked, and would have done it for somebody else. */
export function isDenied(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === insufficientPrivilege
}
