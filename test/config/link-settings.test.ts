import { expect, test } from 'vitest'
import { sharedLinks } from '../../src/config/environment-settings.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { linkFinding } from '../../src/doctor/secrecy.ts'
import { environment } from '../support/settings-text.ts'

const linksOf = (changes: Record<string, string>) =>
  parseSettings({ ...environment, ...changes }, () => '').links

test('links lead to the addresses that are set, and to none by default', () => {
  expect(linksOf({})).toEqual({ console: null, dashboards: null, runbook: null })
  const set = {
    PUBLIC_URL: 'https://deposits.example/',
    DASHBOARDS_URL: 'https://example.org/grafana//',
    RUNBOOK_URL: 'https://docs.example/runbook.md',
  }
  const links = {
    console: 'https://deposits.example',
    dashboards: 'https://example.org/grafana',
    runbook: 'https://docs.example/runbook.md',
  }
  expect(linksOf(set)).toEqual(links)
  expect(sharedLinks(links)).toEqual(links)
  expect(linkFinding({ links })).toMatchObject({ state: 'ok' })
})

test.each<[string, string]>([
  ['ftp://deposits.example', 'PUBLIC_URL must be an address that begins with http:// or https://'],
  ['/console', 'PUBLIC_URL must be an address that begins with http:// or https://'],
  ...[
    'https://me:secret@deposits.example',
    'https://deposits.example/?a=b',
    'https://deposits.example/#a',
  ].map((address): [string, string] => [
    address,
    'PUBLIC_URL must be an address without a login, a query or a section',
  ]),
])('%s is refused', (address, fault) => {
  expect(() => linksOf({ PUBLIC_URL: address })).toThrow(fault)
})

test.each([
  'http://localhost:9464',
  'http://LOCALHOST',
  'http://console.localhost',
  'http://127.0.0.1:9464',
  'http://127.1',
  'http://[::1]:9464',
  'http://0.0.0.0:9464',
  'http://[::]',
])('%s leaves this machine in no link, and doctor says so', (address) => {
  const links = linksOf({ PUBLIC_URL: address, DASHBOARDS_URL: 'https://grafana.example' })
  expect(sharedLinks(links)).toMatchObject({ console: null, dashboards: 'https://grafana.example' })
  expect(linkFinding({ links })).toEqual({
    check: 'links',
    state: 'warning',
    says: `PUBLIC_URL is ${address}, which only this machine can open; RUNBOOK_URL is not set: alerts have no link to the console, runbook`,
    fix: 'set PUBLIC_URL, RUNBOOK_URL to the address at which others open it: docs/settings.md#links',
  })
})
