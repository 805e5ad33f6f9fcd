import { expect, test } from 'vitest'
import { redactorOf, secretsOf } from '../../src/config/secrets-of.ts'
import { hookSecret, notifyingSettings } from '../support/notified.ts'

const books = { url: 'postgres://database.example/depositd' }
const smtp = { SMTP_URL: 'smtps://depositd:pass-word@mail.example.com' }
const mail = 'channels: { mail: { type: email, to: [ops@example.com] } }'
const faultsOf = (section: string, environment: Record<string, string> = {}) => {
  try {
    notifyingSettings(books, section, environment)
    return []
  } catch (error) {
    return (error as { details: { faults: string[] } }).details.faults
  }
}

test('nothing is notified by default', () => {
  expect(notifyingSettings(books, '{}', {}).notifications).toBeNull()
})

test('channels have their addresses and secrets from the environment', () => {
  const section = `{ from: d@example.com, channels: { on-call: { type: webhook, services: [default] }, chat: { type: slack } }, people: { max: max@example.com } }`
  const { notifications } = notifyingSettings(books, section, {
    ...smtp,
    NOTIFICATION_URL_ON_CALL: 'https://hooks.example/on-call',
    NOTIFICATION_SECRET_ON_CALL: hookSecret,
    NOTIFICATION_URL_CHAT: 'https://chat.example/services/key',
  })
  const all = { severities: ['severe', 'warning'], kinds: null }
  expect(notifications).toEqual({
    digest: '08:00',
    channels: [
      {
        ...all,
        name: 'on-call',
        services: ['default'],
        target: { type: 'webhook', url: 'https://hooks.example/on-call', secret: hookSecret },
      },
      {
        ...all,
        name: 'chat',
        services: null,
        target: { type: 'slack', url: 'https://chat.example/services/key' },
      },
    ],
    people: [
      {
        person: 'max',
        target: { type: 'email', smtpUrl: smtp.SMTP_URL, from: 'd@example.com', to: ['max@example.com'] },
      },
    ],
  })
})

test.each([
  [`{ ${mail} }`, smtp, 'notifications.from is missing'],
  [`{ from: d@example.com, ${mail} }`, {}, 'SMTP_URL is missing'],
  [
    `{ from: d@example.com, ${mail} }`,
    { SMTP_URL: 'https://mail.example' },
    'SMTP_URL must be an address that begins with smtp:// or smtps://',
  ],
  ['{}', smtp, 'SMTP_URL is set, and notifications has no e-mail'],
  ['{ channels: { chat: { type: slack } } }', {}, 'NOTIFICATION_URL_CHAT is missing'],
  [
    '{ channels: { chat: { type: slack } } }',
    { NOTIFICATION_URL_CHAT: 'http://chat.example/key' },
    'NOTIFICATION_URL_CHAT must begin with https://',
  ],
  [
    '{ channels: { own: { type: webhook } } }',
    { NOTIFICATION_URL_OWN: 'https://hooks.example', NOTIFICATION_SECRET_OWN: 'short' },
    'NOTIFICATION_SECRET_OWN must be whsec_',
  ],
  [
    '{ channels: { Chat: { type: slack } } }',
    { NOTIFICATION_URL_CHAT: 'https://chat.example' },
    'channels.Chat: must be a name of lower-case letters',
  ],
  [
    '{ channels: { chat: { type: slack, services: [acme] } } }',
    { NOTIFICATION_URL_CHAT: 'https://chat.example' },
    'chat.services: knows no service acme; use default',
  ],
  [
    '{ channels: { chat: { type: slack, kinds: [none] } } }',
    { NOTIFICATION_URL_CHAT: 'https://chat.example' },
    'must be a kind of mismatch',
  ],
  ['{ digest: 8am }', {}, 'must be a time of day in UTC'],
  ["{ people: { max: 'Max <max@example.com>' } }", smtp, 'must be an e-mail address'],
  ['{}', { NOTIFICATION_URL_CHAT: 'https://chat.example' }, 'NOTIFICATION_URL_CHAT is unknown'],
])('%s is refused with the fix', (section, environment, fault) => {
  expect(faultsOf(section, environment).join('\n')).toContain(fault)
})

test('no fault repeats a secret, and none is shown later', () => {
  const section = '{ channels: { chat: { type: slack }, own: { type: webhook } } }'
  const environment = {
    NOTIFICATION_URL_CHAT: 'https://chat.example/services/a-long-secret',
    NOTIFICATION_URL_OWN: 'https://hooks.example/own?key=query-key',
    NOTIFICATION_SECRET_OWN: hookSecret,
  }
  const settings = notifyingSettings(books, section, environment)
  const { hide } = redactorOf(settings)
  for (const secret of ['a-long-secret', 'query-key', hookSecret])
    expect(hide(`at ${secret}.`)).not.toContain(secret)
  expect(secretsOf(notifyingSettings(books, `{ from: d@example.com, ${mail} }`, smtp))).toContain('pass-word')
  const wrong = {
    ...environment,
    NOTIFICATION_SECRET_OWN: 'whsec_wrong',
    NOTIFICATION_URL_CHAT: 'ftp://a-long-secret',
  }
  expect(faultsOf(section, wrong).join()).not.toMatch(/whsec_wrong|a-long-secret/)
})
