import { loadServiceProfile } from '../app/service-profile.ts'
import type { Environment } from '../config/environment.ts'
import type { ServiceSettings, Settings } from '../config/settings.ts'
import { isFault } from '../core/errors.ts'
import { defaultService } from '../core/evidence.ts'
import type { DoctorFinding } from '../presentation/doctor.ts'
import { balanceFindings } from './balances.ts'
import { chainFindings } from './chains.ts'
import { databaseFindings } from './database.ts'
import { fault, madeIn, ok } from './finding.ts'
import { historyFindings } from './history.ts'
import { portFindings, webhookFindings } from './intake.ts'
import { notificationFindings } from './notifications.ts'
import { connectionFinding, linkFinding, secretFinding } from './secrecy.ts'
import { queueFindings, serviceFindings } from './service.ts'
import { valueFindings } from './values.ts'
import { walletFindings } from './wallets.ts'

type Examination = {
  /** @throws Fault `settings_bad`, which is a finding */
  readSettings: () => Settings
  /** As the user made it: a fix names what is set there. */
  environment: Environment
  balances?: boolean
  report?: (progress: string) => void
}

/** Every check runs once, at the same time as the others, and is bounded. */
export async function examine({
  readSettings,
  environment,
  balances = false,
  report = () => undefined,
}: Examination): Promise<readonly DoctorFinding[]> {
  try {
    const settings = readSettings()
    const services = settings.services.map((service) => ({
      ...service,
      profile: loadServiceProfile(settings, service),
    }))
    const isMade = madeIn(environment)
    const findings = await allAtOnce(report, {
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
      notifications: notificationFindings(settings),
      ...(balances && { balances: balanceFindings(settings) }),
    })
    const webhooks = await Promise.all(services.map(ofService((one) => webhookFindings(one, new Date()))))
    const secrecy = [
      connectionFinding(settings, isMade),
      linkFinding(settings),
      secretFinding(environment, services),
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

async function allAtOnce(report: (progress: string) => void, checks: Checks): Promise<DoctorFinding[]> {
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
  return found.flat()
}
