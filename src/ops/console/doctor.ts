import { type DoctorFinding, findingColumns } from '../../presentation/doctor.ts'
import { html, tableOf, timeOf, withShown } from './html.ts'
import { badge, type ConsolePage, type Tone } from './page.ts'
import { hidden } from './passkey-form.ts'
import { type ConsoleUser, personWho } from './people.ts'
import { readQuery } from './query.ts'
import type { DoctorRun } from './reader.ts'
import type { ConsoleAnswer, ConsoleRequest } from './request.ts'

export async function showDoctor({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  return doctorPage(reader.doctor.last(), personWho(user, 'run the doctor'))
}

export async function runDoctor({ reader, user }: ConsoleRequest): Promise<ConsoleAnswer> {
  personWho(user, 'run the doctor')
  await reader.doctor.examine()
  return { redirect: '/doctor' }
}

function doctorPage(run: DoctorRun | null, { formToken }: ConsoleUser): ConsolePage {
  const shown =
    run === null
      ? html`<p class="empty">Nothing was checked since this process started. The checks ask the database, the queue, each service, each node and both ports, for at most 10 seconds each.</p>`
      : html`<p class="asof">${verdictOf(run.findings)} As of ${timeOf(run.at)}</p>
${tableOf(gravestFirst(run.findings), { caption: 'Findings, the gravest first', columns, empty: '' })}`
  const body = html`<p class="crumbs"><a href="/services">Services</a></p>
<h1>Doctor</h1>
<p class="note">What bin/depositd doctor checks, by the settings of the process that shows this page: settings, database, queue, services, nodes, ports and secrets. Each problem has its fix.</p>
<form class="act" method="post" action="/doctor">${hidden('form', formToken)}<button type="submit">${run === null ? 'Check now' : 'Check again'}</button></form>
${shown}`
  return { title: 'Doctor', entry: '/services', body }
}

const order = ['fault', 'warning', 'ok'] as const

function gravestFirst(findings: readonly DoctorFinding[]): DoctorFinding[] {
  return findings.toSorted((one, other) => order.indexOf(one.state) - order.indexOf(other.state))
}

function verdictOf(findings: readonly DoctorFinding[]): string {
  const [faults, warnings] = order.map((state) => findings.filter((one) => one.state === state).length)
  if (faults === 0 && warnings === 0) return 'Everything is fine.'
  return `Faults: ${faults}, warnings: ${warnings}.`
}

const tones: Record<DoctorFinding['state'], Tone> = { ok: 'fine', warning: 'warning', fault: 'severe' }

const columns = withShown(findingColumns, {
  STATE: ({ state }: DoctorFinding) => badge(tones[state], state),
})
