import { z } from 'zod'
import { type AssetCatalog, type ConfiguredPolicies, policiesOf, readPolicies } from './policies.ts'
import { policySection } from './policy-schema.ts'
import type { Settings } from './settings.ts'
import { parseYaml } from './yaml-file.ts'

/**
 * Parses a file that contains only the section `policy` of the settings file.
 * @param settings the networks and assets that its routes refer to
 */
export function parsePolicyFile(
  text: string,
  settings: Pick<Settings, 'networks' | 'creditAsset'>,
): { policies: ConfiguredPolicies | null; faults: string[] } {
  const world = worldOf(settings)
  const schema = z.strictObject({ policy: given.pipe(policySection) }).superRefine(({ policy }, context) => {
    for (const { path, message } of readPolicies(policy, world).faults)
      context.addIssue({ code: 'custom', path: ['policy', ...path], message })
  })
  const { file, faults } = parseYaml(schema, text)
  return { policies: file && policiesOf(file.policy, world), faults }
}

/** A file without the section would otherwise be the policy of an empty section, which is never intended. */
const given = z.unknown().superRefine((section, context) => {
  if (section === undefined) context.addIssue('is missing')
})

function worldOf({ networks, creditAsset }: Pick<Settings, 'networks' | 'creditAsset'>): AssetCatalog {
  const assets = networks.flatMap(({ assets: known, unpinned = [] }) => [...known, ...unpinned])
  return { networks, assets: [...assets, creditAsset] }
}
