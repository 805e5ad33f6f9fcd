import { parseLossless } from './lossless-json.ts'
import { compileField, Unreadable } from './profile/find-field.ts'
import type { Profile } from './profile/profile-schema.ts'

/**
 * Makes what finds the sender's id of the event in the body of a webhook, which is JSON; null where it holds none that
 * can be read.
 */
export function createEventIdReader({ webhook }: Profile): (body: Buffer) => string | null {
  if (webhook.id === undefined) return () => null
  const find = compileField(webhook.id, '')
  return (body) => {
    const payload = parseLossless(body.toString())
    try {
      return find({ payload, record: payload })?.text ?? null
    } catch (error) {
      if (error instanceof Unreadable) return null
      throw error
    }
  }
}
