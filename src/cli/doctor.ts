import { isFault } from '../core/errors.ts'
import { loadServiceProfile } from '../service-profile.ts'
import { attachedSettings, type Context } from './context.ts'
import { balanceFindings } from './doctor-balances.ts'
import { canaryFindings } from './doctor-canaries.ts'
import { chainFindings } from './doctor-chains.ts'
import { costReport } from './doctor-cost.ts'
import { databaseFindings } from './doctor-database.ts'
import { type Finding, fault, ok } from './doctor-finding.ts'
import { portFindings } from './doctor-ports.ts'
import { connectionFinding, linkFinding, secretFinding } from './doctor-secrecy.ts'
import { queueFindings, serviceFindings } from './doctor-service.ts'
import { webhookFindings } from './doctor-webhooks.ts'
import { type Column, type News, printJson, table } from './print.ts'

/** Checks every setting and connection, and prints what it found. Bad news where there is a fault. */
export async function doctorCommand(
  context: Context,
  { json, balances, cost }: { json?: boolean; balances?: boolean; cost?: boolean },
): Promise<News> {
  if (cost === true) return costReport(context, json === true)
  const findings = await examine(context, balances === true)
  const isHealthy = findings.every(({ state }) => state !== 'fault')
  if (json === true) printJson(context, { healthy: isHealthy, checks: findings })
  else context.stdout.write(table(findings, columns))
  return isHealthy ? 'good' : 'bad'
}

async function examine(context: Context, balances: boolean): Promise<readonly Finding[]> {
  try {
    const settings = attachedSettings(context)
    const profile = loadServiceProfile(settings)
    const findings = await Promise.all([
      databaseFindings(settings),
      queueFindings(settings),
      serviceFindings(settings, profile),
      chainFindings(settings),
      portFindings(settings),
      canaryFindings(settings),
    ])
    const webhooks = webhookFindings(settings.webhooks, new Date())
    const proved = balances ? await balanceFindings(settings) : []
    const secrecy = [connectionFinding(settings), linkFinding(settings), secretFinding(context.environment)]
    return [ok('settings', 'can be read'), ...findings.flat(), ...webhooks, ...secrecy, ...proved]
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    const mend = 'correct it where it is set; docs/settings.md tells what each takes'
    return error.details.faults.map((says) => fault('settings', { says, mend }))
  }
}

const columns: Column<Finding>[] = [
  { title: 'CHECK', of: (finding) => finding.check },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'SAYS', of: ({ says }) => says },
  { title: 'MEND', of: ({ mend }) => mend },
]
