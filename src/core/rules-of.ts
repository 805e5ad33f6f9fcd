import type { Rules } from './decide.ts'

/** The settings by which deposits are decided. */
export function rulesOf({ policy, routes, senders, contras = [] }: Rules): Rules {
  return { policy, routes, senders, contras }
}
