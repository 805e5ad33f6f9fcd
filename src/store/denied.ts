const insufficientPrivilege = '42501'

/** Whether Postgres refused a statement because the user lacks a privilege. */
export function isDenied(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === insufficientPrivilege
}
