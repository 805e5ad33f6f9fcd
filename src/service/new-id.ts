import { randomBytes } from 'node:crypto'

/** 96 random bits after a prefix that names the kind of record. */
export function newId(prefix: 'dep' | 'evt' | 'wep' | 'wdr' | 'swp'): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`
}
