import type { ConsolePeople } from '../../src/ops/console/people.ts'
import type { ConsoleReader } from '../../src/ops/console/reader.ts'
import { serveConsole } from '../../src/ops/console/serve-console.ts'
import type { ChartFigures } from '../../src/store/charts.ts'
import { emptyReading, readAs, startOpsServer } from './ops-server.ts'

export const emptyCharts: ChartFigures = {
  from: new Date('2026-01-01T00:00:00Z'),
  hours: 24,
  deposits: [],
  settling: [],
  mismatches: [],
  transit: [],
  losses: [],
}

/** A console that has nothing to show, with these changes. */
export function emptyReader(changes: Partial<ConsoleReader> = {}): ConsoleReader {
  return {
    version: '1.2.3',
    dashboards: null,
    services: ['default'],
    networks: ['base', 'solana'],
    explorers: new Map(),
    overview: async () => ({
      readAt: new Date('2026-01-01T10:00:00Z'),
      gauges: await readAs(emptyReading)(),
      health: { ready: true, unready: [], warnings: [], fine: ['database'] },
      gravest: { value: [] },
      latest: { value: [] },
      charts: { value: emptyCharts },
    }),
    mismatches: () => Promise.resolve([]),
    causes: () => Promise.resolve([]),
    act: () => Promise.resolve(null),
    mentions: () => Promise.resolve([]),
    mismatch: () => Promise.resolve(null),
    views: () => Promise.resolve([]),
    deposits: () => Promise.resolve([]),
    findDeposits: () => Promise.resolve([]),
    deposit: () => Promise.resolve(null),
    bundle: () => Promise.resolve(null),
    dispute: () => Promise.resolve(null),
    ledger: () =>
      Promise.resolve({
        readAt: new Date('2026-01-01T10:00:00Z'),
        trial: { value: { lines: [], totals: [] } },
        periods: { value: [] },
        checkpoints: { value: [] },
      }),
    journals: () => Promise.resolve([]),
    journal: () => Promise.resolve(null),
    ownAccounts: [],
    networkSettings: [],
    nodes: () => Promise.resolve([]),
    statement: () => Promise.resolve([]),
    addresses: () => Promise.resolve([]),
    proposals: () => Promise.resolve([]),
    quarantine: () => Promise.resolve([]),
    webhook: () => Promise.resolve(null),
    scorecard: () => Promise.resolve({ value: [] }),
    settings: () => Promise.resolve({ rules: [], isWaiting: false, services: [], others: [] }),
    doctor: { last: () => null, examine: () => Promise.resolve() },
    runbook: () => '',
    ...changes,
  }
}

const unused = () => Promise.reject(new Error('no person is signed in'))

/** Nobody is signed in. */
export const noPeople: ConsolePeople = {
  origin: 'http://localhost:9464',
  userOf: () => Promise.resolve(null),
  startSignIn: unused,
  signIn: unused,
  signInByLink: () => Promise.resolve(null),
  openId: null,
  signOut: unused,
  enter: unused,
  codeOfDevice: (device) => device,
  journalOf: () => {
    throw new Error('no person is signed in')
  },
  additionOf: unused,
  policyOfSettings: () => ({ kind: 'policy', change: { rules: {} } }),
  grantDevice: unused,
  invitation: () => Promise.resolve(null),
  takePasskey: unused,
  decisions: () => Promise.resolve([]),
  decision: () => Promise.resolve(null),
  draft: unused,
  request: unused,
  waiting: unused,
  approve: unused,
  reject: unused,
  everyone: () => Promise.resolve([]),
  invitations: () => Promise.resolve([]),
  invite: unused,
  personOf: unused,
  tokens: () => Promise.resolve([]),
  makeToken: unused,
  revokeToken: unused,
  endpoints: () => Promise.resolve([]),
  endpoint: () => Promise.resolve(null),
  makeEndpoint: unused,
  changeEndpoint: unused,
  rotateSecret: unused,
  testEndpoint: unused,
  log: () => Promise.resolve([]),
  recordAct: unused,
  exportBooks: unused,
  retryQuarantine: unused,
  dropQuarantined: unused,
  saveView: unused,
  removeView: unused,
  workOnCases: unused,
  undoWork: unused,
  attach: unused,
  takeAttachment: unused,
}

/** Serves a console that shows what this reads; it is stopped after the test. */
export function startConsole(changes: Partial<ConsoleReader> = {}): Promise<string> {
  return startOpsServer({ console: serveConsole(emptyReader(changes), noPeople) })
}

/** The page as a browser asks for it. */
export async function pageAt(url: string): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(url, { headers: { accept: 'text/html' }, redirect: 'manual' })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

/** What is off about a page, for people who do not see it and for browsers that run nothing. */
export function faultsOfPage(text: string): string[] {
  const all = (form: RegExp) => [...text.matchAll(form)]
  const labels = new Set(all(/<label for="([^"]+)"/g).map(([, id]) => id))
  const fields = all(/<(?:input|select)\b[^>]*\bid="([^"]+)"/g).map(([, id]) => id)
  const ids = all(/\bid="([^"]+)"/g).map(([, id]) => id)
  const levels = all(/<h([1-6])\b/g).map(([, level]) => Number(level))
  const jumps = levels.filter((level, place) => level > (levels[place - 1] ?? 0) + 1)
  return [
    ...(text.startsWith('<!doctype html>\n<html lang="en">') ? [] : ['no document']),
    ...(/<title>[^<]+ · depositd<\/title>/.test(text) ? [] : ['no title']),
    ...(levels.filter((level) => level === 1).length === 1 ? [] : ['not one main heading']),
    ...(jumps.length === 0 ? [] : [`headings leave out a level before ${jumps.join(', ')}`]),
    ...(/<script|<style|<iframe|\son\w+=|\sstyle=|javascript:|\bhttps?:/i.test(
      text
        .replace(/<script src="\/console-[0-9a-f]{12}\.js" type="module"><\/script>/, '')
        .replaceAll(/<a href="https:\/\/[^"<>]+" rel="noreferrer">/g, '')
        .replaceAll(/http:\/\/www\.w3\.org\S+/g, ''),
    )
      ? ['more than markup']
      : []),
    ...fields.filter((id) => !labels.has(id)).map((id) => `no label for ${id}`),
    ...ids.filter((id, place) => ids.indexOf(id) !== place).map((id) => `${id} twice`),
    ...(all(/<table\b/g).length === all(/<caption>[^<]+<\/caption>/g).length
      ? []
      : ['a table without caption']),
    ...(/<th(?![^>]*scope=)[ >]/.test(text) ? ['a heading of a table without scope'] : []),
  ]
}
