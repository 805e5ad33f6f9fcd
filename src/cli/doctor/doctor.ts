import { loadServiceProfile } from '../../app/service-profile.ts'
import type { ServiceSettings } from '../../config/settings.ts'
import { isFault } from '../../core/errors.ts'
import { defaultService } from '../../core/evidence.ts'
import { attachedSettings, type Context } from '../context.ts'
import { type News, print, reportProgress, type TableColumn, table } from '../print.ts'
import { balanceFindings } from './balances.ts'
import { chainFindings } from './chains.ts'
import { costReport } from './cost.ts'
import { databaseFindings } from './database.ts'
import { type DoctorFinding, fault, madeIn, ok } from './finding.ts'
import { historyFindings } from './history.ts'
import { portFindings, webhookFindings } from './intake.ts'
import { connectionFinding, linkFinding, secretFinding } from './secrecy.ts'
import { queueFindings, serviceFindings } from './service.ts'
import { valueFindings } from './values.ts'
import { walletFindings } from './wallets.ts'

/** Bad news if there is a fault. */
export async function doctorCommand(
  context: Context,
  { balances = false, cost = false }: { balances?: boolean; cost?: boolean },
): Promise<News> {
  if (cost) return costReport(context)
  const findings = await examine(context, balances)
  const isHealthy = findings.every(({ state }) => state !== 'fault')
  print(context, { healthy: isHealthy, checks: findings }, table(findings, columns))
  return isHealthy ? 'good' : 'bad'
}

async function examine(context: Context, balances: boolean): Promise<readonly DoctorFinding[]> {
  try {
    const settings = attachedSettings(context)
    const services = settings.services.map((service) => ({
      ...service,
      profile: loadServiceProfile(settings, service),
    }))
    const isMade = madeIn(context.environment)
    const findings = await allAtOnce(context, {
      database: databaseFindings(settings, isMade),
      queue: queueFindings(settings, isMade),
      service: Promise.all(services.map(ofService(serviceFindings))).then((found) => found.flat()),
      chains: chainFindings(settings, isMade),
      history: historyFindings(settings),
      wallets: Promise.all(services.map(ofService((one) => walletFindings(settings, one)))).then((found) =>
        found.flat(),
      ),
      values: valueFindings(settings),
      ports: portFindings(settings),
      ...(balances && { balances: balanceFindings(settings) }),
    })
    const webhooks = await Promise.all(services.map(ofService((one) => webhookFindings(one, new Date()))))
    const secrecy = [
      connectionFinding(settings, isMade),
      linkFinding(settings),
      secretFinding(context.environment, services),
    ]
    return [ok('settings', 'complete and valid'), ...findings, ...webhooks.flat(), ...secrecy]
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    const fix = 'correct the setting; docs/settings.md describes each'
    return error.details.faults.map((says) => fault('settings', says, fix))
  }
}

type ServiceFindings = readonly DoctorFinding[]

/** The checks of a service that is not the default one have its name. */
function ofService<Service extends Pick<ServiceSettings, 'name'>>(
  find: (service: Service) => ServiceFindings | Promise<ServiceFindings>,
): (service: Service) => Promise<ServiceFindings> {
  return async (service) => {
    const found = await find(service)
    if (service.name === defaultService) return found
    return found.map((finding) => ({ ...finding, check: `${finding.check} ${service.name}` }))
  }
}

type Checks = Readonly<Record<string, Promise<readonly DoctorFinding[]>>>

async function allAtOnce(context: Context, checks: Checks): Promise<DoctorFinding[]> {
  const report = reportProgress(context)
  const startedAt = performance.now()
  const open = new Set(Object.keys(checks))
  report(`checking ${[...open].join(', ')}`)
  const found = await Promise.all(
    Object.entries(checks).map(async ([name, findings]) => {
      const done = await findings
      open.delete(name)
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
      const rest = open.size === 0 ? '' : `; waiting for ${[...open].join(', ')}`
      report(`${name} checked after ${seconds} s${rest}`)
      return done
    }),
  )
  if ('isTTY' in context.stderr && context.stderr.isTTY === true) context.stderr.write('\n')
  return found.flat()
}

const columns: TableColumn<DoctorFinding>[] = [
  { title: 'CHECK', value: (finding) => finding.check },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'RESULT', value: ({ says }) => says },
  { title: 'FIX', value: ({ fix }) => fix },
]
