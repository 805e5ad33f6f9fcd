import { readFileSync } from 'node:fs'
import type { Kysely } from 'kysely'
import type { Settings } from '../config/settings.ts'
import { decide, rulesOf } from '../core/decide.ts'
import { makeBundle, refuseSecrets } from '../evidence/make-bundle.ts'
import { type BundleCheck, verifyBundle } from '../evidence/verify-bundle.ts'
import { verifyDecisions } from '../evidence/verify-decisions.ts'
import { rulesInForce } from '../jobs/books/activate-rules.ts'
import { pinnedNetworks } from '../store/assets.ts'
import { loadEvidence } from '../store/books/load-evidence.ts'
import type { Tables } from '../store/tables.ts'
import { loadServiceProfile } from './service-profile.ts'

/** `failed` are the checks that the bundle would not pass. */
export type CheckedBundle = {
  text: string
  sha256: string
  checks: readonly BundleCheck[]
  failed: readonly BundleCheck[]
}

/**
 * Makes the bundle of a deposit and verifies it; null if there is no such deposit.
 * @throws Fault `settings_bad` if a profile cannot be used, and `usage_bad` if a payload contains a secret
 */
export function createBundleMaker(
  settings: Settings,
  version: string,
): (db: Kysely<Tables>, deposit: { id: bigint; groupId: bigint }) => Promise<CheckedBundle | null> {
  const services = settings.services.map((service) => {
    loadServiceProfile(settings, service)
    return { ...service, profileText: readFileSync(service.profilePath, 'utf8') }
  })
  return async (db, { id: depositId, groupId }) => {
    const evidence = await loadEvidence(db, groupId)
    if (evidence === null) return null
    const at = new Date()
    const rules = await rulesInForce(db, rulesOf(settings))
    const decision = decide(evidence.group, rules, at)
    const pinned = { ...settings, ...rulesOf(rules), networks: await pinnedNetworks(db, settings.networks) }
    const input = { depositId, evidence, decision, settings: pinned, services, at, version }
    const { text, sha256 } = makeBundle(input)
    refuseSecrets(text, settings)
    const { checks: ownChecks, bundle } = verifyBundle(text)
    const checks = [
      ...ownChecks,
      ...(bundle === null ? [] : [verifyDecisions(bundle.parts, settings.people.administratorKey)]),
    ]
    return { text, sha256, checks, failed: checks.filter(({ outcome }) => outcome === 'failed') }
  }
}
