import { createHash } from 'node:crypto'

/**
 * The name of an account in hledger, which accepts most names unchanged. A part that it could misread, such as an
 * owner's id with blanks, is reduced to safe characters and distinguished by a digest. No two accounts get the same
 * name.
 */
export function hledgerAccount(account: string): string {
  return account
    .split(':')
    .map((part) => (/^[A-Za-z0-9][A-Za-z0-9_.@+/-]*$/.test(part) ? part : `${safe(part)}~${digestOf(part)}`))
    .join(':')
}

/**
 * The name of an account in Beancount. Its parts begin with a capital letter or a digit and contain letters, digits and
 * dashes: `Assets:In-transit:Base`. A part that is not all lower-case letters, digits and underscores ends in `X` and a
 * digest. No two accounts get the same name, because no other part has a capital letter after its first character.
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
