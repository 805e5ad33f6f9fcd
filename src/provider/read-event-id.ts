import { parseLossless } from './lossless-json.ts'
import { compileField, Unreadable } from './profile/find-field.ts'
import type { Profile } from './profile/profile-schema.ts'

/** Creates a reader of the sender's event id in a JSON webhook body. It returns null if there is no readable id. */
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
