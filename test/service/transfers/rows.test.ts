import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serviceDatabase, type TestDatabase } from '../../support/postgres.ts'

const token = '0x1111111111111111111111111111111111111111'

let database: TestDatabase
let client: Client

/** Deposits in several states, and the transfers that were made for them. */
beforeAll(async () => {
  database = await serviceDatabase()
  client = new Client({ connectionString: database.url })
  await client.connect()
  await client.query(`
    begin;
    insert into service.owner (branch, kind, id, evm_address, solana_address, forward_network, forward_asset, forward_recipient)
    values (1, 'channel', 'shop', '0xa', 'a', 'base', 'USDC', '0xb'), (2, 'stable_wallet', 'savings', '0xc', 'c', null, null, null);
    insert into service.deposit (id, owner_kind, owner_id, status, reason, network, address, asset, decimals, amount,
      transaction, index, block, block_at, to_network, to_address, to_asset, to_contract, to_decimals,
      to_amount, fee, rate, to_transaction, to_at)
    values
      ('dep_open', 'channel', 'shop', 'forwarding', null, 'mainnet', '0xa', 'ETH', 18, 5, 't1', '0', 1, now(),
        'base', '0xb', 'USDC', '${token}', 6, 10, 1, '2', 'f2', null),
      ('dep_settled', 'channel', 'shop', 'settled', null, 'mainnet', '0xa', 'ETH', 18, 5, 't2', '0', 1, now(),
        'base', '0xb', 'USDC', '${token}', 6, 10, 1, '2', 'f3', now()),
      ('dep_gone', 'channel', 'shop', 'failed', 'vanished', 'mainnet', '0xa', 'ETH', 18, 5, 't3', '0', 1, now(),
        'base', '0xb', 'ETH', null, 18, null, null, null, null, null),
      ('dep_credited', 'stable_wallet', 'savings', 'credited', null, 'mainnet', '0xc', 'ETH', 18, 5, 't4', '0', 1, now(),
        null, 'savings', 'USDC', null, 6, 10, 1, '2', null, now());
    insert into service.event (id, type, deposit_id, revision, body, created_at)
    select 'evt_' || id, 'deposit.detected', id, 1, '{}', now() from service.deposit;
    insert into service.transfer (kind, deposit_id, attempt, network, branch, nonce, asset, to_address, amount, outcome, transaction)
    values ('forward', 'dep_open', 1, 'base', 0, 3, '${token}', '0xb', 9, 'reverted', 'f1'),
      ('forward', 'dep_open', 2, 'base', 0, 4, '${token}', '0xb', 10, null, null),
      ('forward', 'dep_settled', 1, 'base', 0, 2, '${token}', '0xb', 10, 'landed', 'f3');
    commit`)
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

async function select(text: string): Promise<Record<string, unknown>[]> {
  const { rows } = await client.query<Record<string, unknown>>(text)
  return rows
}

test('an open forward keeps any other payment of its deposit away', async () => {
  const again = client.query(`
    insert into service.transfer (kind, deposit_id, attempt, network, branch, nonce, asset, to_address, amount)
    values ('forward', 'dep_open', 3, 'base', 0, 9, 'native', '0xb', 1)`)
  await expect(again).rejects.toThrow('transfer_once')
})

test.each([
  [
    'two open sweeps of one address',
    `('sweep', null, null, 1, 'base', 7, 1), ('sweep', null, null, 1, 'base', 7, 2)`,
    'sweep_one_by_one',
  ],
  [
    'two open top-ups of one address',
    `('top_up', null, null, 1, 'base', 0, 11), ('top_up', null, null, 1, 'base', 0, 12)`,
    'top_up_one_by_one',
  ],
  [
    'two transfers with one nonce',
    `('top_up', null, null, 1, 'base', 0, 4)`,
    'transfer_network_branch_nonce_key',
  ],
  ['a sweep from the liquidity wallet', `('sweep', null, null, 1, 'base', 0, 13)`, 'transfer_sweep_branch'],
  ['a forward of nothing', `('forward', null, null, 1, 'base', 0, 14)`, 'transfer_of_deposit'],
  ['a refund of what was forwarded', `('refund', 'dep_settled', null, 1, 'base', 0, 15)`, 'transfer_once'],
])('Postgres refuses %s', async (_what, rows, constraint) => {
  const insert = client.query(`
    insert into service.transfer (kind, deposit_id, withdrawal, attempt, network, branch, nonce, asset, to_address, amount)
    select kind, deposit_id, withdrawal::bigint, attempt, network, branch, nonce, 'native', '0xe', 1
    from (values ${rows}) as row (kind, deposit_id, withdrawal, attempt, network, branch, nonce)`)
  await expect(insert).rejects.toThrow(constraint)
})

test('a second payment of a withdrawal is refused while the first may land', async () => {
  await client.query(`
    insert into service.withdrawal (wallet_id, id, network, recipient, asset, amount)
    values ('savings', 'w', 'base', '0xb', '${token}', 5)`)
  const pay = (attempt: number) =>
    client.query(`
      insert into service.transfer (kind, withdrawal, attempt, network, branch, nonce, asset, to_address, amount)
      select 'withdrawal', sequence, ${attempt}, 'base', 0, ${20 + attempt}, '${token}', '0xb', 5 from service.withdrawal`)
  await pay(1)
  await expect(pay(2)).rejects.toThrow('withdrawal_once')
  await client.query(`update service.transfer set outcome = 'expired' where kind = 'withdrawal'`)
  await pay(2)
})

test('sweeping a deposit is no news of it', async () => {
  const read = `select revision, updated_at from service.deposit where id = 'dep_settled'`
  const before = await select(read)
  await client.query(`
    update service.deposit set sweep_id = (select id from service.transfer limit 1) where id = 'dep_settled'`)
  expect(await select(read)).toEqual(before)
})
