import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Fault, messageOf } from '../../core/errors.ts'
import { parseProfile } from './parse-profile.ts'
import type { Profile } from './profile-schema.ts'

/**
 * Loads a profile from a file.
 * @param networks allowed network names; any if omitted
 * @throws Fault `settings_bad` that lists every problem with its line
 */
export function loadProfile(path: string, networks?: ReadonlySet<string>): Profile {
  const { profile, faults } = parseProfile(readText(path), networks)
  if (profile !== null) return profile
  throw new Fault('settings_bad', { faults: faults.map((fault) => `profile ${basename(path)}, ${fault}`) })
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const fix =
      'service.profile is the name of one that comes along, or a path as seen from the settings file'
    throw new Fault('settings_bad', {
      faults: [`profile ${basename(path)} cannot be read: ${messageOf(error)}; ${fix}`],
    })
  }
}
