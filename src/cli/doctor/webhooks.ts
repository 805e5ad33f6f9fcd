import type { Settings } from '../../config/settings.ts'
import { isFault } from '../../core/errors.ts'
import { openScheme } from '../../intake/live-scheme.ts'
import { type DoctorFinding, fault, ok, warning } from './finding.ts'

const check = 'webhooks'
const soonMs = 7 * 86_400_000

/** Checks that webhooks can be verified, now and in the coming days. */
export function webhookFindings({ signing, keys }: Settings['webhooks'], now: Date): DoctorFinding[] {
  if (signing.scheme === 'none') {
    const says = 'are not signed: anybody who reaches the port is believed'
    return [
      warning(check, {
        says,
        fix: 'set webhooks.scheme; bin/depositd webhooks detect finds it from captures',
      }),
    ]
  }
  try {
    openScheme({ signing, keys }, now)
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    const fix = 'give the secret or key as the service shows it (docs/webhooks.md); nothing of it is printed'
    return error.details.faults.map((says) => fault(check, { says, fix }))
  }
  const end = endOf(keys.secrets)
  if (end !== null && end.getTime() - now.getTime() < soonMs) {
    const says = `no secret counts any more from ${end.toISOString()} on`
    return [
      warning(check, { says, fix: 'put the new secret first in WEBHOOK_SECRETS, before the old one ends' }),
    ]
  }
  return [ok(check, `are verified by ${signing.scheme}`)]
}

/** The time at which the last secret expires. Null if there are none, or one never expires. */
function endOf(secrets: Settings['webhooks']['keys']['secrets']): Date | null {
  const ends = secrets.map(({ notAfter }) => notAfter)
  const dated = ends.filter((end) => end !== null)
  if (dated.length < ends.length || dated.length === 0) return null
  return new Date(Math.max(...dated.map((end) => end.getTime())))
}
