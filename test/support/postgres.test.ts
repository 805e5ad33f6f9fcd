import { Client } from 'pg'
import { expect, test } from 'vitest'
import { emptyDatabase, testDatabase } from './postgres.ts'

test('each database is its own and is gone once dropped', async () => {
  const databases = [await testDatabase(), await emptyDatabase()]
  for (const { url, drop } of databases) {
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query('create table mine (id integer)')
    await client.end()
    await drop()
    await expect(new Client({ connectionString: url }).connect()).rejects.toThrow('does not exist')
  }
})
