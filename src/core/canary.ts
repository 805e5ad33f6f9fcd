/** A canary is a webhook that we sent to our own public address. Only `received` is good. */
export const canaryOutcomes = [
  'received',
  'refused',
  'redirected',
  'unrecorded',
  'failed',
  'timeout',
] as const
export type CanaryOutcome = (typeof canaryOutcomes)[number]

/** 32 random bytes, known only to the database and the recipient. */
const bodyForm = /^\{"type":"depositd\.canary","token":"([\w-]{43})"\}$/
export function canaryBody(token: string): Buffer {
  return Buffer.from(`{"type":"depositd.canary","token":"${token}"}`)
}

const bodyBytes = canaryBody('x'.repeat(43)).length

/** Null for other bodies, which cost one comparison of lengths. */
export function canaryToken(body: Buffer): string | null {
  return body.length === bodyBytes ? (bodyForm.exec(body.toString('latin1'))?.[1] ?? null) : null
}
