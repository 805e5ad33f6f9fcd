import { createHash } from 'node:crypto'

/**
 * An account in hledger, which takes most names as they stand. A part that it could misread, such as an owner's id with
 * blanks, is cut down to what is safe and told apart by a digest. No two accounts get the same name.
 */
export function hledgerAccount(account: string): string {
  return account
    .split(':')
    .map((part) => (/^[A-Za-z0-9][A-Za-z0-9_.@+/-]*$/.test(part) ? part : `${safe(part)}~${digestOf(part)}`))
    .join(':')
}

/**
 * An account in Beancount, whose parts begin with a capital letter or a digit and hold letters, digits and dashes:
 * `Assets:In-transit:Base`. A part that is not all small letters, digits and underscores ends in `X` and a digest, so
 * that no two accounts get the same name: no other part has a capital letter behind its first.
 */
export function beancountAccount(account: string): string {
  return account
    .split(':')
    .map((part) => {
      const isPlain = /^[a-z0-9][a-z0-9_]*$/.test(part)
      return capitalised(isPlain ? part.replaceAll('_', '-') : `${safe(part)}-X${digestOf(part)}`)
    })
    .join(':')
}

function safe(part: string): string {
  const cut = part
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 40)
  return cut === '' ? 'x' : cut
}

function digestOf(part: string): string {
  return createHash('sha256').update(part).digest('hex').slice(0, 10).toUpperCase()
}

function capitalised(part: string): string {
  return part.slice(0, 1).toUpperCase() + part.slice(1)
}
