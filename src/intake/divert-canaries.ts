import { canaryToken } from '../core/canary.ts'
import type { InboxOutcome, InboxWriter, ReceivedWebhook } from './inbox-writer.ts'

export type Write = (row: ReceivedWebhook) => Promise<InboxOutcome | 'overloaded' | 'canary'>

/**
 * Our own webhooks are evidence only of a working endpoint. Without an issued token, a webhook of that form is stored
 * like the rest.
 * @param receive records the token; returns false for an unknown one, and may throw
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
