-- A deposit that no price converts is held, until there is a price.
alter table service.deposit
  drop constraint deposit_reason,
  add constraint deposit_reason check (
    case
      when status = 'failed' then coalesce(reason in ('vanished', 'too_small'), false)
      when status = 'held' then coalesce(
        reason in (
          'policy_hold', 'below_minimum', 'asset_denied', 'sender_denied', 'sender_unknown', 'undeliverable',
          'price_missing'), false)
      when status in ('refunding', 'refunded') then coalesce(
        reason in ('below_minimum', 'asset_denied', 'sender_denied', 'requested'), false)
      else reason is null
    end);

create index deposit_to_convert on service.deposit (network, sequence)
  where status = 'confirmed' or reason = 'price_missing';
