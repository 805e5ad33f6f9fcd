import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserInstalled, type Visitor } from '../support/browser.ts'
import { usdcOnBase, usdtOnBase } from '../support/evidence.ts'
import { openPeopleConsole, type PeopleConsole } from '../support/people-console.ts'

let console: PeopleConsole
let ines: Visitor

describe.skipIf(!browserInstalled())('mismatches by cause, in Chromium', () => {
  /** Two incidents of one kind: 40 mismatches in 39 minutes, in two assets, the last two snoozed; and one a day later. */
  beforeAll(async () => {
    console = await openPeopleConsole()
    ines = await console.joined('ines', 'operator')
    await sql`
      insert into mismatch (subject, kind, severity, service, network, opened_at, loss_asset, loss_amount, loss_whole,
        detail, snoozed_until)
      select 'transfer/' || n, 'tx_reused', 'severe', 'default', 'base',
        '2026-02-01T10:00:30Z'::timestamptz + case n when 40 then interval '1 day' else n * interval '1 minute' end,
        case when n % 2 = 0 then ${usdcOnBase} else ${usdtOnBase} end, 1234567890, 1234567890, '{}',
        case when n in (38, 39) then now() + interval '1 hour' end
      from generate_series(0, 40) as n`.execute(console.books.owner)
  }, 60_000)
  afterAll(async () => {
    await ines[Symbol.asyncDispose]()
    await console[Symbol.asyncDispose]()
  })

  test('an incident is one line with its losses per asset, and links to its mismatches alone', async () => {
    const { page, faults } = ines
    await page.goto(`${console.url}/mismatches/causes`)
    const lines = page.getByRole('row', { name: 'tx_reused' })
    expect(await lines.count()).toBe(2)
    const cells = async (line: number) =>
      (await lines.nth(line).getByRole('cell').allTextContents()).slice(0, 8)
    expect(await lines.first().locator('td div').allTextContents()).toEqual([
      '24,691.3578 USDC on base',
      '24,691.3578 USDT on base',
    ])
    expect(await cells(1)).toEqual([
      'severe',
      'tx_reused',
      'base',
      'service',
      '1',
      '1,234.56789 USDC on base',
      '2026-02-02 10:00:00 UTC',
      '2026-02-02 10:00:00 UTC',
    ])
    expect((await cells(0)).toSpliced(5, 1)).toEqual([
      'severe',
      'tx_reused',
      'base',
      'service',
      '40',
      '2026-02-01 10:00:00 UTC',
      '2026-02-01 10:39:00 UTC',
    ])
    await lines.first().getByRole('link').click()
    await page.getByLabel('Opened since').waitFor()
    expect(await page.locator('tbody tr').count()).toBe(40)
    expect(await page.getByRole('row', { name: 'snoozed' }).count()).toBe(2)
    expect(await page.getByLabel('Opened before').inputValue()).toBe('2026-02-01T10:40Z')
    expect(faults).toEqual([])
  })
})
