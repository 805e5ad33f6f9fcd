import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Fault, messageOf } from '../../core/errors.ts'
import { parseProfile } from './parse-profile.ts'
import type { Profile } from './profile-schema.ts'

/**
 * Reads a profile from its file.
 * @throws Fault `settings_bad` that names every fault with its line.
 */
export function loadProfile(path: string): Profile {
  const refuse = (faults: readonly string[]): never => {
    throw new Fault('settings_bad', { faults: faults.map((fault) => `profile ${basename(path)}, ${fault}`) })
  }
  const { profile, faults } = parseProfile(readText(path, refuse))
  return profile ?? refuse(faults)
}

function readText(path: string, refuse: (faults: readonly string[]) => never): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    return refuse([`service.profile: ${messageOf(error)}`])
  }
}
