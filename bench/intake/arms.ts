/** What serves the webhooks of one arm of B1, and what the target is held against. */
export const arms = {
  ours: 'depositd: verified, group commit, wake-up on Redis',
  bare: 'Express that parses and answers 200',
  verify: 'verified and not stored',
  writer:
    'verified, through the inbox writer, into a store that takes no time: the most that any store would leave',
  queue: 'verified, one BullMQ job per request on Redis (AOF everysec)',
  insert: 'verified, one INSERT per request',
} as const

export type Arm = keyof typeof arms
export const armNames = Object.keys(arms) as Arm[]

/** What a serving process is told, as JSON in its argument. */
export type Serving = { arm: Arm; databaseUrl: string; redisUrl: string; secret: string }

export const queueName = 'bench-webhooks'
