import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parseYaml, refuseIn } from '../../config/yaml-file.ts'
import { Fault, messageOf } from '../../core/errors.ts'
import { parseAssetName } from './known-assets.ts'
import { type Profile, profileSchema } from './profile-schema.ts'

/**
 * Each problem is one line: `line 12, record.id: …`.
 * @param networks allowed names; any if omitted
 */
export function parseProfile(
  text: string,
  networks?: ReadonlySet<string>,
): { profile: Profile | null; faults: string[] } {
  const { file, faults } = parseYaml(
    profileSchema.superRefine((profile, context) => {
      for (const { path, network } of networksNamedIn(profile))
        if (networks?.has(network) === false)
          refuseIn(context)(path, `must name a network of the settings, not ${network}`)
    }),
    text,
  )
  return { profile: file, faults }
}

function networksNamedIn(profile: Profile): { path: string[]; network: string }[] {
  return [
    ...Object.entries(profile.networks).map(([word, network]) => ({ path: ['networks', word], network })),
    ...Object.entries(profile.assets).flatMap(([word, name]) => {
      const { network } = parseAssetName(name)
      return network === null ? [] : [{ path: ['assets', word], network }]
    }),
  ]
}

/**
 * @param networks allowed names; any if omitted
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
      'set service.profile to the name of a built-in profile, or to a path relative to the settings file'
    throw new Fault('settings_bad', {
      faults: [`profile ${basename(path)} cannot be read: ${messageOf(error)}; ${fix}`],
    })
  }
}
