import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { takesAway } from '../support/takes-away.ts'

const folder = join(import.meta.dirname, '../../db/migrations')

/** Before it no version was released that could run beside another. */
const firstHeld = '0032'
const held = readdirSync(folder).filter((file) => file >= firstHeld)

/**
 * Each of these was looked at, and two versions ran beside each other on it. Decimals were pinned by the owner, and not by
 * the daemon's role, whose right is gone; nothing makes objects in `public` but migrations; the index asks for nothing
 * that the constraint before it did not ask for.
 */
const lookedAt: Readonly<Record<string, readonly string[]>> = {
  '0032_logins.sql': ['takes a right to asset', 'takes a right to public'],
  '0033_ledger_references.sql': ['adds a condition to ledger_journal'],
}

test('there are migrations to be held', () => {
  expect(held.length).toBeGreaterThan(0)
})

test.each(held)('%s only adds, or says from which version on nobody uses what it takes away', (file) => {
  const text = readFileSync(join(folder, file), 'utf8')
  const isContract = file.endsWith('_contract.sql')
  const known = lookedAt[file] ?? []
  if (isContract) expect(text).toMatch(/^-- contract: not used since \d+\.\d+\.\d+: \S/)
  else expect(takesAway(text).filter((one) => !known.includes(one))).toEqual([])
})

describe('what takes something away is known', () => {
  test.each([
    ['drop table deposit', 'drops deposit'],
    ['drop view if exists accounting.deposits', 'drops accounting.deposits'],
    ['alter table deposit drop column state', 'drops a column of deposit'],
    ['alter table deposit drop state', 'drops a column of deposit'],
    ['alter table deposit rename column state to condition', 'renames deposit'],
    ['ALTER TABLE deposit\n  RENAME TO payment', 'renames deposit'],
    ['alter table deposit alter column amount type bigint', 'changes a type of deposit'],
    ['alter table deposit alter amount set data type bigint', 'changes a type of deposit'],
    ['alter table deposit alter amount drop default', 'drops a default of deposit'],
    ['alter table deposit alter column tx set not null', 'asks for a value in deposit'],
    ['alter table deposit add column kind text not null', 'asks for a value in a new column of deposit'],
    ['alter table deposit add constraint some check (amount > 5)', 'adds a condition to deposit'],
    ['create unique index one on deposit (tx)', 'adds a condition to deposit'],
    ['revoke insert on deposit from depositd_daemon', 'takes a right to deposit'],
    ['alter table deposit set schema old', 'moves deposit'],
  ])('%s', (statement, what) => {
    expect(takesAway(`-- A reason.\nselect 1;\n${statement};`)).toEqual([what])
  })

  test.each([
    'create table fresh (id bigint); alter table fresh add constraint one check (id > 0); revoke all on fresh from public',
    'alter table deposit add column note text',
    "alter table deposit add column kind text not null default 'x'",
    'alter table deposit alter column tx drop not null',
    'alter table deposit drop constraint some',
    'create index some on deposit (tx)',
    'drop view accounting.some; create view accounting.some as select 1',
    'create function f() returns void language plpgsql as $$ begin drop table deposit; end $$',
    "comment on table deposit is 'drop table deposit; alter table deposit rename to x'",
    '-- drop table deposit;',
  ])('and what does not is let pass: %s', (text) => {
    expect(takesAway(text)).toEqual([])
  })
})
