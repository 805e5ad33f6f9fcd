import { BaseError } from 'viem'
import { messageOf } from '../../core/errors.ts'

/**
 * One line for the log. Removes URLs and request bodies from the errors of RPC clients, because a URL can contain a
 * key.
 */
export function describeError(error: unknown): string {
  const text = error instanceof BaseError ? `${error.shortMessage} ${error.details}` : messageOf(error)
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/https?:\/\/\S+/g, '(address)')
    .trim()
    .slice(0, 300)
}
