import { createHash } from 'node:crypto'

/** Finds the sender's id of the event in a body; null where it holds none. */
export type EventIdReader = (body: Buffer) => string | null

// A space follows the id where one event came with several bodies; an index takes no longer key.
const idForm = /^[\x21-\x7e]{1,256}$/

/**
 * The key of a webhook whose scheme signs no id beside the body: the id in the body, which is signed. Without one that
 * can be kept it is the hash of the body, so that a resend is still recognised by its bytes.
 */
export function eventKey(body: Buffer, readId: EventIdReader): string {
  const id = readId(body)
  return id !== null && idForm.test(id) ? id : `sha256:${createHash('sha256').update(body).digest('hex')}`
}
