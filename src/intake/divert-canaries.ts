import { canaryToken } from '../core/canary.ts'
import type { InboxOutcome, InboxWriter, ReceivedWebhook } from './inbox-writer.ts'

/** Stores an accepted webhook and returns the outcome. */
export type Write = (row: ReceivedWebhook) => Promise<InboxOutcome | 'overloaded' | 'canary'>

/**
 * Keeps webhooks that this program sent to itself out of the inbox: they are evidence only of a working endpoint. Only
 * an issued token makes a canary; any other webhook of that form is stored like the rest.
 * @param receive records the token. Returns false for an unknown one; may throw, as storing may
 */
export function divertCanaries(
  write: InboxWriter['write'],
  receive: (token: string) => Promise<boolean>,
): Write {
  return async (row) => {
    const token = canaryToken(row.body)
    return token !== null && (await receive(token)) ? 'canary' : write(row)
  }
}
