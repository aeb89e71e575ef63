# An SMSC of Net::SMPP on a free port of 127.0.0.1, for one connection. Prints the port, and then each submit_sm and
# query_sm as a line of JSON; takes every message, and sends a receipt for it.
use strict;
use warnings;
use Net::SMPP;
use JSON::PP;

$| = 1;
my $listener = Net::SMPP->new_listen('127.0.0.1', port => 0) or die "no listener: $!";
print $listener->sockport, "\n";
my $link = $listener->accept or die "no connection: $!";
my $json = JSON::PP->new->canonical;
my $taken = 0;

while (my $pdu = $link->read_pdu) {
    my $command = $pdu->{cmd};
    my @answer = (seq => $pdu->{seq});
    if ($command == Net::SMPP::CMD_bind_transceiver()) {
        $link->set_version(0x34);
        $link->bind_transceiver_resp(system_id => 'net-smpp', @answer);
    }
    elsif ($command == Net::SMPP::CMD_submit_sm() || $command == Net::SMPP::CMD_query_sm()) {
        my @fields = grep { defined $pdu->{$_} } qw(source_addr source_addr_ton source_addr_npi destination_addr
            dest_addr_ton dest_addr_npi message_id short_message validity_period registered_delivery);
        print $json->encode({ map { $_ => "$pdu->{$_}" } @fields }), "\n";
        if ($command == Net::SMPP::CMD_query_sm()) {
            $link->query_sm_resp(message_id => $pdu->{message_id}, final_date => '', message_state => 2, error_code => 0,
                @answer);
            next;
        }
        my $id = 'perl-' . ++$taken;
        $link->submit_sm_resp(message_id => $id, @answer);
        $link->deliver_sm(
            async => 1, esm_class => 4,
            source_addr => $pdu->{destination_addr}, source_addr_ton => 1, source_addr_npi => 1,
            destination_addr => $pdu->{source_addr}, dest_addr_ton => $pdu->{source_addr_ton},
            dest_addr_npi => $pdu->{source_addr_npi},
            short_message => "id:$id sub:001 dlvrd:001 submit date:2601021200 done date:2601021201 stat:DELIVRD err:000 text:",
        );
    }
    elsif ($command == Net::SMPP::CMD_enquire_link()) { $link->enquire_link_resp(@answer) }
    elsif ($command == Net::SMPP::CMD_unbind()) { $link->unbind_resp(@answer); last }
}
