import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { notificationFindings } from '../../src/doctor/examine.ts'
import { checkMail } from '../../src/jobs/notify/send.ts'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { mailInstalled, startMailServer } from '../support/mail-server.ts'
import { notifyingSettings, startHooks } from '../support/notified.ts'
import { booksDatabase } from '../support/postgres.ts'
import { makeSecret } from '../support/sign-webhook.ts'

const section =
  '{ from: d@example.com, channels: { chat: { type: slack }, mail: { type: email, to: [ops@example.com] } } }'

describe.skipIf(!mailInstalled())('notifications test', () => {
  test('sends a message to each channel, or to one, and fails if one is not accepted', async () => {
    await using mail = await startMailServer()
    await using hooks = await startHooks()
    const file = join(await temporaryFolder(), 'settings.yaml')
    writeFileSync(file, `notifications: ${section}\n`)
    const environment = {
      DATABASE_URL: 'postgres://127.0.0.1:9/none',
      SERVICE_URL: 'http://127.0.0.1:9',
      SERVICE_API_KEY: 'key',
      WEBHOOK_SECRETS: makeSecret(),
      RPC_BASE: 'http://127.0.0.1:9',
      DEPOSITD_CONFIG: file,
      SMTP_URL: mail.url,
      NOTIFICATION_URL_CHAT: `${hooks.url}/a-secret-of-the-channel`,
    }
    expect(await runCommand('notifications test', environment)).toMatchObject({ status: 0, err: '' })
    expect(hooks.requests).toHaveLength(1)
    expect(mail.mails().map(({ headers }) => headers['subject'])).toEqual([
      'Test message of depositd for mail',
    ])
    hooks.answer(404)
    const failed = await runCommand('notifications test chat --json', environment)
    expect(failed.status).toBe(1)
    expect(JSON.parse(failed.out)).toEqual([{ channel: 'chat', outcome: 'failed', problem: 'answered 404' }])
    expect(mail.mails()).toHaveLength(1)
    const unknown = await runCommand('notifications test pager', environment)
    expect(unknown.err).toContain('the channel "pager"')
  })

  test('the doctor checks the mail server without sending', async () => {
    const database = await booksDatabase()
    await using mail = await startMailServer()
    const settings = notifyingSettings(database, section, {
      SMTP_URL: mail.url,
      NOTIFICATION_URL_CHAT: 'https://chat.example',
    })
    const found = async () =>
      (await notificationFindings(settings)).map(({ state, says }) => `${state} ${says}`)
    expect(await found()).toEqual([
      `ok ${new URL(mail.url).host} accepts e-mail`,
      'ok every message was accepted',
    ])
    await mail.stop()
    expect((await found())[0]).toMatch(/^fault .*ECONNREFUSED/)
    expect(mail.mails()).toEqual([])
    await database.drop()
  })

  test('a server on another machine needs TLS', async () => {
    await using mail = await startMailServer()
    const target = { type: 'email', from: 'd@example.com', to: ['ops@example.com'] } as const
    expect(await checkMail({ ...target, smtpUrl: mail.url })).toBeNull()
    // The same machine by an address that is not known as such.
    const smtpUrl = mail.url.replace('127.0.0.1', '[::ffff:127.0.0.1]')
    expect(await checkMail({ ...target, smtpUrl })).toMatch(/STARTTLS/)
  })
})
