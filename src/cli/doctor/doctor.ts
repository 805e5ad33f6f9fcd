import { examine } from '../../doctor/examine.ts'
import { findingColumns } from '../../presentation/doctor.ts'
import { attachedSettings, type Context } from '../context.ts'
import { type News, print, reportProgress, table } from '../print.ts'
import { costReport } from './cost.ts'

/** Bad news if there is a fault. */
export async function doctorCommand(
  context: Context,
  { balances = false, cost = false }: { balances?: boolean; cost?: boolean },
): Promise<News> {
  if (cost) return costReport(context)
  const findings = await examine({
    readSettings: () => attachedSettings(context),
    environment: context.environment,
    balances,
    report: reportProgress(context),
  })
  if ('isTTY' in context.stderr && context.stderr.isTTY === true) context.stderr.write('\n')
  const isHealthy = findings.every(({ state }) => state !== 'fault')
  print(context, { healthy: isHealthy, checks: findings }, table(findings, findingColumns))
  return isHealthy ? 'good' : 'bad'
}
