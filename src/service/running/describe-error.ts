import { BaseError } from 'viem'
import { messageOf } from '../../core/errors.ts'

/** One line for the log, without the addresses and bodies that RPC clients put into theirs: an address can hold a key. */
export function describeError(error: unknown): string {
  const text = error instanceof BaseError ? `${error.shortMessage} ${error.details}` : messageOf(error)
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/https?:\/\/\S+/g, '(address)')
    .trim()
    .slice(0, 300)
}
