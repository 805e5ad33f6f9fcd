import { randomBytes } from 'node:crypto'

/** 96 random bits after the prefix. */
export function newId(prefix: 'dep' | 'evt' | 'wep' | 'wdr' | 'swp'): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`
}
