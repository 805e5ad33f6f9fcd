import { judgeNotifications } from '../app/notifications.ts'
import { loadServiceProfile } from '../app/service-profile.ts'
import type { Environment } from '../config/environment.ts'
import { redactorOf } from '../config/secrets-of.ts'
import type { ServiceSettings, Settings } from '../config/settings.ts'
import { isFault } from '../core/errors.ts'
import { defaultService } from '../core/evidence.ts'
import { checkMail } from '../jobs/notify/send.ts'
import type { DoctorFinding } from '../presentation/doctor.ts'
import { countUnvalued } from '../store/ledger/show-values.ts'
import { nextUnvalued, priceGaps, readValued } from '../store/ledger/values.ts'
import { readUnsent } from '../store/notifications.ts'
import { balanceFindings } from './balances.ts'
import { chainFindings, historyFindings } from './chains.ts'
import { databaseFindings } from './database.ts'
import { adviceFor, examined, fault, madeIn, ok, openExaminedDatabase, warning } from './finding.ts'
import { portFindings, webhookFindings } from './intake.ts'
import { connectionFinding, linkFinding, secretFinding } from './secrecy.ts'
import { queueFindings, serviceFindings, walletFindings } from './service.ts'

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

/** Whether the books are valued. Nothing if the settings name no currency. */
export function valueFindings({
  databaseUrl,
  valuation,
}: Pick<Settings, 'databaseUrl' | 'valuation'>): Promise<readonly DoctorFinding[]> {
  return examined('values', 'see the check of the database', async () => {
    if (valuation === null) return []
    await using db = openExaminedDatabase(databaseUrl)
    const { lastJournal: after, currency } = await readValued(db)
    if (currency !== null && currency !== valuation.currency)
      return warning('values', `the books are valued in ${currency}`, `set valuation.currency to ${currency}`)
    const unvalued = await countUnvalued(db, null)
    const next = await nextUnvalued(db, after)
    const [gap] = await priceGaps(db, { after, upTo: next ?? after, limit: 1 })
    if (gap === undefined) return ok('values', `${unvalued} journals wait for the next audit`)
    const { asset, assetSymbol, at } = gap
    const problem = `${unvalued} journals have no value: no price in ${valuation.currency} of ${assetSymbol} (${asset}) at ${at.toISOString()}`
    return warning('values', problem, 'bin/depositd ledger value; docs/accounting.md#values-in-a-currency')
  })
}

const ofNotifications = 'notifications'

/** Sends no message. Nothing if the settings name no channel and no person. */
export async function notificationFindings(settings: Settings): Promise<readonly DoctorFinding[]> {
  if (settings.notifications === null) return []
  const [mail, messages] = await Promise.all([mailFindings(settings), messageFindings(settings)])
  return [...mail, ...messages]
}

/** All e-mail goes through one server. */
async function mailFindings(settings: Settings): Promise<readonly DoctorFinding[]> {
  const { channels = [], people = [] } = settings.notifications ?? {}
  const target = [...channels, ...people].map((one) => one.target).find(({ type }) => type === 'email')
  if (target?.type !== 'email') return []
  return examined(ofNotifications, 'correct SMTP_URL', async () => {
    const problem = await checkMail(target)
    if (problem === null) return ok(ofNotifications, `${new URL(target.smtpUrl).host} accepts e-mail`)
    const names = { setting: 'SMTP_URL', credential: 'the user and password in SMTP_URL' }
    return fault(ofNotifications, redactorOf(settings).hide(problem), adviceFor(problem, names))
  })
}

function messageFindings(settings: Settings): Promise<readonly DoctorFinding[]> {
  return examined(ofNotifications, 'see the check of the database', async () => {
    await using db = openExaminedDatabase(settings.databaseUrl)
    return judgeNotifications(settings, await readUnsent(db)).map(({ state, says }) =>
      state === 'fine'
        ? ok(ofNotifications, says)
        : warning(
            ofNotifications,
            says,
            'bin/depositd notifications test; docs/how-to/notifications.md#if-a-channel-fails',
          ),
    )
  })
}
